import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** A document for people, by its path from the top folder. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

/** Reads a document. */
export function documentAt(path: string): Document {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

/** Every document whose statements the tests check. */
export const DOCUMENTS: readonly Document[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
  ...readdirSync(join(ROOT, 'docs', 'extending')).map((file) => `docs/extending/${file}`),
  'deploy/README.md',
].map(documentAt);

/** The code blocks of a document in one language. */
export function codeBlocks({ text }: Document, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code);
}

/** The text without its code blocks. */
function prose(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

/** The targets of the links that lead to another place in the repository. */
export function relativeLinks({ text }: Document): string[] {
  return [...prose(text).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target = '']) => target);
}

/** The anchors of the headings, as GitHub makes them. */
export function anchors({ text }: Document): string[] {
  const seen = new Map<string, number>();
  return [...prose(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const earlier = seen.get(anchor) ?? 0;
    seen.set(anchor, earlier + 1);
    return earlier === 0 ? anchor : `${anchor}-${earlier}`;
  });
}

/** The rows of the tables below a heading, without their heads. A cell is a text without the spaces around it. */
export function tableRows({ path, text }: Document, heading: string): string[][] {
  const start = text.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`${path} has no heading "${heading}".`);
  const level = /^#+/.exec(heading)?.[0].length ?? 1;
  const after = text.slice(start + heading.length + 2);
  const end = after.search(new RegExp(`^#{1,${level}} `, 'm'));
  const lines = (end === -1 ? after : after.slice(0, end)).split('\n');
  return lines.flatMap((line, index) => {
    const isRow = line.startsWith('|') && !line.startsWith('| --') && lines[index + 1]?.startsWith('| --') !== true;
    return isRow
      ? [
          line
            .slice(1, -1)
            .split('|')
            .map((cell) => cell.trim()),
        ]
      : [];
  });
}

/** The texts in backticks, without those in code blocks. */
export function inCode(text: string): string[] {
  return [...prose(text).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}
