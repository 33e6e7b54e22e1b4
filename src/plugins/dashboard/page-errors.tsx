import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ServiceError } from '../../plugin-api/core/common.js';
import { allowedMethods, recordSentError, ServiceErrorFilter } from '../../plugin-api/core/http.js';
import { waitingTime } from './numbers-and-times.js';
import { wantsPage } from './forms/form-problems.js';
import { requestPath, withNext } from './paths.js';
import { Pages } from './pages.js';

/** Sends errors as pages to browsers. All other clients get them as JSON. */
@Injectable()
export class PageErrors implements OnModuleInit {
  constructor(
    private readonly pages: Pages,
    private readonly errors: ServiceErrorFilter,
  ) {}

  onModuleInit(): void {
    if (this.pages.has('dashboard')) this.errors.sendFirst(this.send.bind(this));
  }

  private send(error: ServiceError, request: Request, response: Response): boolean {
    if (!wantsPage(request)) return false;
    if (error.code === 'unauthenticated') {
      this.pages.redirect(response, withNext('/sign-in', wayBack(request)));
      return true;
    }
    recordSentError(error, request.context);
    const { requestId, session } = request.context;
    // A page that does not exist is not in the list of requests.
    const isOperator = session?.account.role === 'operator' && error.status !== 404;
    const [title, advice] = wordsFor(error);
    const content = ErrorView({ error, title, advice, link: ['Home', '/'], requestId, isOperator });
    this.pages.send(response, { title, content, width: 'narrow' }, error);
    return true;
  }
}

/** The requested path, if a browser can open it by GET. Some paths accept only a form, and are not pages. */
function wayBack(request: Request): string | undefined {
  return allowedMethods(request).includes('GET') ? request.originalUrl : undefined;
}

/** The title and the advice for an error, by HTTP status. */
const WORDS: Readonly<Record<number, readonly [title: string, advice: string]>> = {
  400: ['Invalid request', 'Go back and check what you entered.'],
  403: ['Not allowed', 'Open the page again and retry.'],
  404: ['Page not found', 'Check the address, or go to the home page.'],
  405: ['Method not allowed', 'Open the page again and retry.'],
  408: ['Request timed out', 'Go back and try again.'],
  409: ['Signed in to another account', 'Open the page again to continue with this account.'],
  413: ['Request too large', 'Go back and send less text.'],
  429: ['Too many attempts', 'Wait a moment and try again.'],
  503: ['Temporarily unavailable', 'Your data is safe. Try again in a moment.'],
};
const UNKNOWN = [
  'Something went wrong',
  'Try again. If the problem remains, contact the operator of this service.',
] as const;

function wordsFor({ status }: ServiceError): readonly [title: string, advice: string] {
  return WORDS[status] ?? UNKNOWN;
}

interface ErrorViewProps {
  readonly error: ServiceError;
  readonly title: string;
  /** What the user can do, unless the error says when to try again. */
  readonly advice?: string;
  /** The link that leads away from the page. */
  readonly link: readonly [label: string, path: string];
  readonly requestId: string;
  /** Whether the page links to the list of requests. */
  readonly isOperator?: boolean;
}

/** The page about an error. */
export function ErrorView({ error, title, advice, link, requestId, isOperator = false }: ErrorViewProps) {
  const [label, path] = link;
  const { retryAfterSeconds } = error;
  const next = retryAfterSeconds === undefined ? advice : `Try again in ${waitingTime(retryAfterSeconds)}.`;
  return (
    <section class="error-page">
      <p class="status">{error.status}</p>
      <h1>{title}</h1>
      <p>{error.message}</p>
      {next === undefined ? null : <p>{next}</p>}
      <p>
        <a href={path} role="button" class="outline">
          {label}
        </a>
      </p>
      <p class="fine">
        Request ID: {isOperator ? <a href={requestPath(requestId)}>{requestId}</a> : <code>{requestId}</code>}
      </p>
    </section>
  );
}
