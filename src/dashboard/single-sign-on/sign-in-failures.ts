import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { ErrorView } from '../errors/error-view.js';
import { wantsPage } from '../errors/wants-page.js';
import { Pages } from '../pages.js';

/** Explains to people why a sign-in at the issuer has failed, and leads back. */
@Injectable()
export class SignInFailures {
  constructor(private readonly pages: Pages) {}

  /**
   * Runs a step of a sign-in. If the step fails, sends a page with the reason.
   *
   * @param back the path of the page on which the person can try again.
   * @throws the error of the step, if it is an internal error, or if the client expects no page.
   */
  async explain(response: Response, back: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      const { req: request } = response;
      if (!(error instanceof ServiceError) || error.code === 'internal_error' || !wantsPage(request)) throw error;
      const title = 'Sign-in failed';
      const content = ErrorView({ error, title, link: ['Back', back], requestId: request.context.requestId });
      this.pages.send(response, { title, section: 'sign-in', width: 'narrow', content }, error);
    }
  }
}
