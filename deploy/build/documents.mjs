// Renders the documents that the service shows as pages below /docs. A link from one to another leads to its page. Links to other files
// of the repository become plain text.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, Renderer } from 'marked';

/** The documents in the order of the list, by their readers. */
const DOCUMENTS = {
  everyone: ['http-api', 'compatible-apis', 'client', 'accounts'],
  operators: [
    ...['operations', 'configuration', 'providers-and-models', 'operator-api', 'single-sign-on', 'webhooks', 'stores'],
    ...['what-a-caller-can-cost', 'bedrock', 'vertex-ai', 'azure'],
  ],
};
const NAMES = Object.values(DOCUMENTS).flat();

/**
 * @param {string} from the folder with the documents
 * @param {string} to the folder for the pages, and for `documents.json`, the list of them
 */
export function renderDocuments(from, to) {
  mkdirSync(to, { recursive: true });
  const list = Object.entries(DOCUMENTS).flatMap(([readers, names]) =>
    names.map((name) => {
      const renderer = new DocumentRenderer();
      const html = new Marked().parse(readFileSync(join(from, `${name}.md`), 'utf8'), { renderer });
      writeFileSync(join(to, `${name}.html`), html);
      return { name, readers, title: renderer.title, sections: renderer.sections };
    }),
  );
  writeFileSync(join(to, 'documents.json'), JSON.stringify(list));
}

class DocumentRenderer extends Renderer {
  title = '';
  /** The headings of the second level. */
  sections = [];

  heading({ tokens, depth, text }) {
    const id = slugOf(text);
    const title = text.replaceAll('`', '');
    if (depth === 1) this.title = title;
    if (depth === 2) this.sections.push({ id, title });
    return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  link(token) {
    const [, name, fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(token.href) ?? [];
    if (NAMES.includes(name)) return super.link({ ...token, href: `/docs/${name}${fragment}` });
    return /^(?:https?:|#)/.test(token.href) ? super.link(token) : this.parser.parseInline(token.tokens);
  }

  code(token) {
    return super.code(token).replace('<pre>', '<pre tabindex="0">');
  }

  table(token) {
    const table = super.table(token).replaceAll('<th></th>', '<td></td>');
    return `<div class="table" role="group" aria-label="Table" tabindex="0">${table}</div>\n`;
  }
}

/** The id of a heading, as the links between the documents have it. */
function slugOf(text) {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}
