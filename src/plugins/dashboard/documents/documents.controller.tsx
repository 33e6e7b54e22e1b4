import { Get, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { readFileSync } from 'node:fs';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { OnlyIf, Public } from '../../../plugin-api/core/http.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { BackLink, Section } from '../parts/blocks.js';
import { DOCS_PATH, REFERENCE_PATH } from '../paths.js';

/** Where the build puts the pages that it makes from the folder `docs`, and their list. */
const FOLDER = new URL('pages/', import.meta.url);

/** A document of the service. */
interface ListedDocument {
  /** The last part of its path, such as `http-api`. */
  readonly name: string;
  readonly readers: 'everyone' | 'operators';
  readonly title: string;
  readonly sections: readonly { readonly id: string; readonly title: string }[];
}

let list: readonly ListedDocument[] | undefined;
const pages = new Map<string, string>();

/** Returns all documents in the order of the list. */
function documents(): readonly ListedDocument[] {
  return (list ??= JSON.parse(fileOf('documents.json')) as readonly ListedDocument[]);
}

/** Returns the document as HTML. */
function htmlOf({ name }: ListedDocument): string {
  let html = pages.get(name);
  if (html === undefined) pages.set(name, (html = fileOf(`${name}.html`)));
  return html;
}

const fileOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** What people look for first: a path below {@link DOCS_PATH}, and a sentence. */
const FIRST: readonly (readonly [title: string, path: string, text: string])[] = [
  ['Limits', 'http-api#limits', 'What your account may use, the headers that say what is left, and status 429.'],
  ['Errors', 'http-api#errors', 'Each error code, its cause, and what to do.'],
  ['SDKs', 'compatible-apis#clients', 'The base URL for OpenAI, Anthropic, AI SDK, LangChain and others.'],
  ['Agents', 'compatible-apis#codex', 'The settings of Codex, Claude Code, opencode, Qwen Code and pi.'],
  [
    'Streams that survive',
    'http-api#durable-streams',
    'An answer that goes on without a connection, and is charged once.',
  ],
  ['Keys and budgets', 'accounts#limits-of-a-key', 'What a key may do, and what happens when a budget is spent.'],
];

/** The documents of the service, as pages: rendered by the build from the folder `docs`. */
@PageController(DOCS_PATH)
@Public()
@OnlyIf(({ apiDocs }) => apiDocs === 'open')
export class DocumentsController {
  constructor(private readonly pages: Pages) {}

  @Get()
  list(@Res() response: Response): void {
    const content = (
      <>
        <h1>Documentation</h1>
        <p>
          <a href={REFERENCE_PATH} role="button">
            API reference
          </a>
        </p>
        <Section id="first" title="What people look for">
          <dl class="facts">
            {FIRST.map(([title, path, text]) => (
              <>
                <dt>
                  <a href={`${DOCS_PATH}/${path}`}>{title}</a>
                </dt>
                <dd>{text}</dd>
              </>
            ))}
          </dl>
        </Section>
        <Section id="programs" title="For programs and their authors">
          <DocumentList readers="everyone" />
        </Section>
        <Section id="operators" title="For operators of the service">
          <DocumentList readers="operators" />
        </Section>
      </>
    );
    this.pages.send(response, { title: 'Documentation', section: 'docs', content });
  }

  @Get(':name')
  show(@Param('name') name: string, @Res() response: Response): void {
    const document = documents().find((each) => each.name === name);
    if (document === undefined) throw new ServiceError('not_found', 'This document does not exist.');
    const content = (
      <>
        <BackLink to={DOCS_PATH}>Documentation</BackLink>
        <details>
          <summary>On this page</summary>
          <ul>
            {document.sections.map(({ id, title }) => (
              <li key={id}>
                <a href={`#${id}`}>{title}</a>
              </li>
            ))}
          </ul>
        </details>
        {/* The build has made this text from files of the service. */}
        <div class="document" dangerouslySetInnerHTML={{ __html: htmlOf(document) }} />
      </>
    );
    this.pages.send(response, { title: document.title, section: 'docs', content });
  }
}

function DocumentList({ readers }: Pick<ListedDocument, 'readers'>) {
  return (
    <ul>
      {documents()
        .filter((document) => document.readers === readers)
        .map(({ name, title }) => (
          <li key={name}>
            <a href={`${DOCS_PATH}/${name}`}>{title}</a>
          </li>
        ))}
    </ul>
  );
}
