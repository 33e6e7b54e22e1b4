import { readFileSync } from 'node:fs';

/** Where the build puts the pages that it makes from the folder `docs`, and their list. */
const FOLDER = new URL('pages/', import.meta.url);

/** A document of the service. */
export interface ListedDocument {
  /** The last part of its path, such as `http-api`. */
  readonly name: string;
  readonly readers: 'everyone' | 'operators';
  readonly title: string;
  readonly sections: readonly { readonly id: string; readonly title: string }[];
}

let list: readonly ListedDocument[] | undefined;
const pages = new Map<string, string>();

/** Returns all documents in the order of the list. */
export function documents(): readonly ListedDocument[] {
  return (list ??= JSON.parse(fileOf('documents.json')) as readonly ListedDocument[]);
}

/** Returns the document as HTML. */
export function htmlOf({ name }: ListedDocument): string {
  let html = pages.get(name);
  if (html === undefined) pages.set(name, (html = fileOf(`${name}.html`)));
  return html;
}

const fileOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
