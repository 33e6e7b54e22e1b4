import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { allowedMethods } from '../../common/allowed-methods.js';
import { requestIdOf } from '../../common/request-id.js';
import { ServiceErrorFilter } from '../../common/service-error.filter.js';
import type { ServiceError } from '../../common/service-error.js';
import { withNext } from '../local-path.js';
import { wantsPage } from './wants-page.js';
import { Pages } from '../pages.js';
import { ErrorView, errorTitle } from './error-view.js';

/** Tells errors to people as pages, and to programs as JSON. */
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
    const content = ErrorView({ error, requestId: requestIdOf(response) });
    this.pages.sendFailure(response, { title: errorTitle(error), content, width: 'narrow' }, error);
  }
}

/** A page that can be opened again: not every path that takes a form is one. */
function wayBack(request: Request): string | undefined {
  return allowedMethods(request).includes('GET') ? request.originalUrl : undefined;
}
