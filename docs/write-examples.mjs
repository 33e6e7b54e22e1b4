// Copies each example into the pages of docs/extending: the code block after a link to a file of examples becomes that file.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const PAGES = new URL('./extending/', import.meta.url);
const QUOTE = /(\]\((\.\.\/\.\.\/examples\/src\/[\w.-]+)\)[^\n]*\n\n```ts\n)[^`]*(?:`(?!``)[^`]*)*(```\n)/g;

for (const name of readdirSync(PAGES)) {
  const page = new URL(name, PAGES);
  const text = readFileSync(page, 'utf8');
  const quoted = (_, before, path, after) => before + readFileSync(new URL(path, page), 'utf8') + after;
  writeFileSync(page, text.replace(QUOTE, quoted));
}
