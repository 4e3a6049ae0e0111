import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { codes, examples, links, opening, slug, tables } from './markdown'
import { groups } from './navigation'
import { excluded, read, rewrites, root, source } from './repository'

// What the README says first is what the first page says first: its title, and the sentence below.
const [, name, paragraph] = /^# (.+)\n\n((?:.+\n)+)/.exec(read('README.md'))!
const [promise, ...rest] = paragraph.trim().replace(/\s+/g, ' ').split(/(?<=\.) /)

const navigation = groups()

// The pages ask nobody else for anything, and browsers hold them to it.
const policy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'none'"

export default defineConfig({
  srcDir: root,
  base: (process.env.SITE_BASE ?? '/') as `/${string}/`,
  rewrites,
  srcExclude: excluded(),
  lang: 'en',
  title: name,
  description: promise,
  cleanUrls: false,
  metaChunk: true,
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: 'data:,' }]
  ],
  markdown: {
    anchor: { slugify: slug },
    toc: { slugify: slug },
    headers: { slugify: slug },
    languageAlias: { request: 'json', reply: 'json' },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    config(md) {
      links(md)
      tables(md)
      codes(md)
      examples(md)
      opening(md)
    }
  },
  vite: {
    build: { chunkSizeWarningLimit: 2000 }, // in kB: the page of all diagnostics is long
    plugins: [{
      // The pages are in folders above node_modules. What they import when compiled is found from here.
      name: 'vue of this folder',
      enforce: 'pre',
      resolveId(id, importer, { ssr }) {
        if (!/^vue(\/|$)/.test(id) || !importer?.endsWith('.md')) return
        return ssr ? { id, external: true } : this.resolve(id, fileURLToPath(import.meta.url), { skipSelf: true })
      }
    }]
  },
  transformPageData(page) {
    if (page.relativePath === 'docs/diagnostics.md') page.frontmatter.outline = 2 // of 260 headings
    if (page.relativePath !== 'index.md') return
    page.title = name
    page.titleTemplate = promise
    page.frontmatter = {
      layout: 'home',
      promise,
      more: rest.join(' ')
    }
  },
  themeConfig: {
    outline: { level: [2, 3], label: 'On this page' },
    sidebar: navigation,
    nav: [],
    socialLinks: [{ icon: 'github', link: source }],
    externalLinkIcon: true,
    search: { provider: 'local', options: { detailedView: true } },
    docFooter: { prev: 'Before', next: 'Next' }
  }
})
