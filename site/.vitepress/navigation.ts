// The order of the pages. It is that of the index, docs/README.md: a group for each of its sections, a page for each
// row of their tables.
import { posix } from 'node:path'
import { isPage, pageURL, read, titleOf } from './repository'

export type Page = { text: string; link: string; answers: string }
export type Group = { text: string; items: Page[] }

const index = 'docs/README.md'

export function groups(): Group[] {
  const [, ...sections] = read(index).split(/^## /m)
  return sections.map((section) => {
    const items: Page[] = []
    for (const [, href, answers] of section.matchAll(/^\| \[[^\]]+\]\(([^)#]+)\) \| (.+) \|$/gm)) {
      const file = posix.join(posix.dirname(index), href)
      if (!isPage(file)) throw new Error(`${index}: ${href} is no page of the site`)
      items.push({ text: file === 'README.md' ? 'Quick start' : titleOf(file), link: pageURL(file), answers })
    }
    return { text: section.split('\n', 1)[0], items }
  })
}
