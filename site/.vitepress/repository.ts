// What the site takes from the repository: its pages, and its files, which are shown where the source is.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

// Where people read the source.
export const source = 'https://github.com/aqltag/aqltag'

// The files that are pages, by their paths in the repository, and where the site has them.
export const rewrites: Record<string, string> = {
  'README.md': 'index.md',
  'docs/README.md': 'docs/index.md',
  'examples/todo/README.md': 'examples/todo.md',
  'examples/tickets/README.md': 'examples/tickets.md'
}

const pages = /^((README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|docs\/[^/]+\.md|examples\/(todo|tickets)\/README\.md)$/

// excluded are the patterns of Markdown that is no page.
export const excluded = () =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'docs' && entry.name !== 'examples')
    .map((entry) => entry.name + '/**')
    .concat('docs/*/**', 'examples/*/*/**')

export const isPage = (file: string) => pages.test(file)

export const read = (file: string) => readFileSync(resolve(root, file), 'utf8')

// titleOf is the text of a page's heading.
export const titleOf = (file: string) => /^# (.+)$/m.exec(read(file))![1]

// pageURL is where the site has a page.
export const pageURL = (file: string) => '/' + (rewrites[file] ?? file).replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')

// pageOf is the page that a link in a file leads to, if it leads to one.
export function pageOf(from: string, href: string): string | undefined {
  const path = href.split('#', 1)[0]
  if (/^[a-z]+:/i.test(href) || path === '') return
  const file = posix.join(posix.dirname(from), path).replace(/\/$/, '')
  return [file, posix.join(file, 'README.md')].find(isPage)
}

// urlOf is where a link in a file leads: to a page of the site, or to the source of any other file of the repository.
export function urlOf(from: string, href: string): string {
  if (/^[a-z]+:/i.test(href) || href.startsWith('#')) return href
  const [path, fragment] = href.split('#', 2)
  const anchor = fragment ? '#' + fragment : ''
  const page = pageOf(from, href)
  if (page) return pageURL(page) + anchor
  const file = posix.join(posix.dirname(from), path).replace(/\/$/, '')
  const target = resolve(root, file)
  if (!existsSync(target)) throw new Error(`${from}: ${href} leads to no file`)
  return `${source}/${statSync(target).isDirectory() ? 'tree' : 'blob'}/main/${file}${anchor}`
}
