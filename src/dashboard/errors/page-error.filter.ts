import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ServiceError } from '../../common/service-error.js';
import { recordSentError } from '../../http/errors/send-error.js';
import { ServiceErrorFilter } from '../../http/errors/service-error.filter.js';
import { allowedMethods } from '../../http/errors/allowed-methods.js';
import { withNext } from '../local-path.js';
import { Pages } from '../pages.js';
import { ErrorView, wordsFor } from './error-view.js';
import { wantsPage } from './wants-page.js';

/** Sends errors as pages to browsers, and as JSON to all other clients. */
@Injectable()
export class PageErrorFilter extends ServiceErrorFilter {
  constructor(private readonly pages: Pages) {
    super();
  }

  protected override send(error: ServiceError, request: Request, response: Response): void {
    if (!wantsPage(request)) {
      super.send(error, request, response);
      return;
    }
    if (error.code === 'unauthenticated') {
      this.pages.leadTo(response, withNext('/sign-in', wayBack(request)));
      return;
    }
    recordSentError(error, request.context);
    const { requestId, session } = request.context;
    // A page that does not exist is not in the list of requests.
    const isOperator = session?.account.role === 'operator' && error.status !== 404;
    const [title, advice] = wordsFor(error);
    const content = ErrorView({ error, title, advice, link: ['Home', '/'], requestId, isOperator });
    this.pages.send(response, { title, content, width: 'narrow' }, error);
  }
}

/** The requested path, if a browser can open it by GET. Some paths accept only a form, and are not pages. */
function wayBack(request: Request): string | undefined {
  return allowedMethods(request).includes('GET') ? request.originalUrl : undefined;
}
