-- CreateAuthor adds an author.
-- name: CreateAuthor :one
INSERT INTO authors (name, bio) VALUES (?, ?) RETURNING *;

-- GetAuthor reads an author.
-- name: GetAuthor :one
SELECT * FROM authors WHERE id = ?;

-- ListAuthors lists the authors by name.
-- name: ListAuthors :many
SELECT * FROM authors ORDER BY name LIMIT ? OFFSET ?;

-- UpdateAuthor replaces what is known of an author.
-- name: UpdateAuthor :one
UPDATE authors SET name = ?, bio = ? WHERE id = ? RETURNING *;

-- DeleteAuthor removes an author.
-- name: DeleteAuthor :execrows
DELETE FROM authors WHERE id = ?;

-- CreateBook adds a book.
-- name: CreateBook :one
INSERT INTO books (author_id, title, pages) VALUES (?, ?, ?) RETURNING *;

-- ListBooks lists the books of an author.
-- name: ListBooks :many
SELECT * FROM books WHERE author_id = ? ORDER BY title;
