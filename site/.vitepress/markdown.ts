// How the site reads Markdown as a code host does.
import { relative } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { pageOf, root, titleOf, urlOf } from './repository'

// slug makes the anchor of a heading as code hosts make it, so that a link to a heading leads to it on both.
export const slug = (heading: string) =>
  heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').trim().replaceAll(' ', '-')

// sourceOf is the file that is being read, by its path in the repository.
const sourceOf = (env: { realPath?: string; path: string }) => relative(root, env.realPath ?? env.path)

// links lets the links of a file lead to pages of the site, or to the source. A link that shows the name of a page's file
// shows its title.
export function links(md: MarkdownRenderer) {
  md.core.ruler.push('links of the repository', (state) => {
    const file = sourceOf(state.env)
    for (const { children } of state.tokens) {
      children?.forEach((token, i) => {
        if (token.type !== 'link_open') return
        const href = decodeURI(token.attrGet('href')!)
        const page = pageOf(file, href)
        const text = children[i + 1]
        if (page && text.type === 'text' && /^[\w/-]+\.md$/.test(text.content)) text.content = titleOf(page)
        token.attrSet('href', urlOf(file, href))
      })
    }
  })
}

// tables wraps tables, which scroll where they are wider than the page. What scrolls can be reached by the keyboard.
export function tables(md: MarkdownRenderer) {
  md.renderer.rules.table_open = (tokens, i, options, env, self) =>
    `<div class="table" role="region" aria-label="Table" tabindex="0">${self.renderToken(tokens, i, options)}`
  md.renderer.rules.table_close = () => '</table></div>'
}

// codes lets codes such as NOT_FOUND_RESOURCE break behind their words, for narrow screens.
export function codes(md: MarkdownRenderer) {
  const inline = md.renderer.rules.code_inline!
  md.renderer.rules.code_inline = (tokens, i, options, env, self) => {
    const html = inline(tokens, i, options, env, self)
    return /^[A-Z]+(_[A-Z]+)+$/.test(tokens[i].content) ? html.replaceAll('_', '_<wbr>') : html
  }
}

const kinds: Record<string, string> = { bad: 'go, with the mistake', good: 'go, correct' }

// examples marks the blocks of docs/diagnostics.md: code that draws a diagnostic, and code that draws none.
export function examples(md: MarkdownRenderer) {
  const fence = md.renderer.rules.fence!
  md.renderer.rules.fence = (tokens, i, options, env, self) => {
    const kind = /^go (bad|good)$/.exec(tokens[i].info.trim())?.[1]
    if (!kind) return fence(tokens, i, options, env, self)
    tokens[i].info = 'go'
    const html = fence(tokens, i, options, env, self)
    return `<div class="example ${kind}">${html.replace('>go</span>', `>${kinds[kind]}</span>`)}</div>`
  }
}

// opening leaves out the heading and the first paragraph of the README, which the first page has above the rest.
export function opening(md: MarkdownRenderer) {
  md.core.ruler.push('opening of the first page', (state) => {
    if (sourceOf(state.env) !== 'README.md') return
    const end = state.tokens.findIndex((token) => token.type === 'paragraph_close')
    state.tokens.splice(0, end + 1)
  })
}
