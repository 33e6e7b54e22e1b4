import { Inject, Injectable, Logger, type OnModuleInit, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { renderToString } from 'preact-render-to-string';
import { isSecure, linkOrigin } from '../../plugin-api/core/auth.js';
import { Extensions, type ServiceError } from '../../plugin-api/core/common.js';
import { type BuiltInPlugin, type Config, CONFIG } from '../../plugin-api/core/config.js';
import {
  PluginsInUse,
  recordSentError,
  RequestValidationPipe,
  Surfaces,
  WholeBody,
} from '../../plugin-api/core/http.js';
import { assetPath, PluginAssets } from './assets.controller.js';
import { problemsOf, type FormProblems } from './forms/form-problems.js';
import { Layout, type Page } from './layout/layout.js';
import { NAVIGATION_ENTRIES, type NavigationEntry } from '../../plugin-api/page-extensions.js';
import { HTTPS_ONLY, PAGE_HEADERS } from './page-controller.decorator.js';

/**
 * Sends pages, and redirects to pages.
 *
 * @experimental
 * @since 1.0
 */
@Injectable()
export class Pages implements OnModuleInit {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly extensions: Extensions,
    private readonly assets: PluginAssets,
    private readonly plugins: PluginsInUse,
    private readonly validation: RequestValidationPipe,
    private readonly surfaces: Surfaces,
  ) {}

  onModuleInit(): void {
    for (const { label, path } of this.extensions.values(NAVIGATION_ENTRIES)) {
      if (!path.startsWith('/api/') && !this.surfaces.hasPage(path)) {
        new Logger('Pages').warn(
          `The navigation entry "${label}" leads to ${path}, and no controller has a page there.`,
        );
      }
    }
  }

  /** Whether visitors may create accounts themselves. */
  get signUp(): Config['signUp'] {
    return this.config.signUp;
  }

  /** Whether people can sign in with passwords. */
  get hasPasswords(): boolean {
    return this.config.passwords === 'on';
  }

  /** See {@link linkOrigin}. */
  originOf(request: Request): string {
    return linkOrigin(this.config, request);
  }

  /** Whether a plugin of the service is in use, so that its pages exist. */
  has(plugin: BuiltInPlugin): boolean {
    return this.plugins.has(plugin);
  }

  /** The ways to sign in that plugins add. */
  get waysToSignIn(): readonly NavigationEntry[] {
    return this.extensions.values(NAVIGATION_ENTRIES).filter(({ audience }) => audience === 'visitors');
  }

  /** Whether the service serves the documents and the description of the API. */
  get hasDocs(): boolean {
    return this.config.apiDocs === 'open';
  }

  /**
   * Renders the page and sends it.
   *
   * @param result the status, or an error whose status and headers the response has.
   * @example this.pages.send(response, { title: 'Usage', section: 'usage', content: UsageView({ rows }) });
   */
  send(response: Response, page: Page, result: number | ServiceError = 200): void {
    const {
      status,
      headers = {},
      retryAfterSeconds,
    }: Partial<ServiceError> & Pick<ServiceError, 'status'> = typeof result === 'number' ? { status: result } : result;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds);
    const layout = Layout({
      page,
      account: response.req.context.session?.account,
      signUp: this.signUp,
      navigation: this.extensions.values(NAVIGATION_ENTRIES),
      plugins: this.plugins,
      hasDocs: this.hasDocs,
      pathOf: (name) => this.assets.pathOf(name) ?? assetPath(name),
    });
    // A page reveals no secret by its compressed length: other sites cannot make the browser send the session cookie together with text
    // of theirs and see the answer.
    const body = new WholeBody(Buffer.from(`<!doctype html>${renderToString(layout)}`), 'one');
    body.send(response, status, { ...PAGE_HEADERS, ...(isSecure(response.req) ? HTTPS_ONLY : {}) });
  }

  /**
   * Returns the fields of a form as an object of a class with rules of `class-validator`. Call it in the action of {@link submit}, so that
   * the form is sent again with the problem of each field. The route takes the fields as an interface, which nothing checks before.
   *
   * @throws {ServiceError} `invalid_request` with the invalid fields.
   */
  validated<Fields extends object>(form: object, type: Type<Fields>): Promise<Fields> {
    // `PostForm` has checked it.
    const fields = Object.entries(form).filter(([name]) => name !== 'account_id');
    return this.validation.validated(Object.fromEntries(fields), type);
  }

  /**
   * Runs the action of a form. If the action fails for a reason that the user can remove, sends the page with the problems.
   *
   * @param action changes something, and redirects to the next page.
   * @throws the error of the action, if it is an internal error, or if the client expects no page.
   */
  async submit(
    response: Response,
    action: () => Promise<unknown>,
    pageWith: (problems: FormProblems) => Page | Promise<Page>,
  ): Promise<void> {
    try {
      await action();
    } catch (error) {
      const problems = problemsOf(error, response.req);
      recordSentError(problems.error, response.req.context);
      const page = await pageWith(problems);
      this.send(response, { ...page, title: `Error: ${page.title}` }, problems.error);
    }
  }

  /** Redirects to another page with status 303. The browser then requests that page by GET. */
  redirect(response: Response, path: string): void {
    response.setHeader('Cache-Control', 'no-store');
    response.redirect(303, path);
  }
}

/** Returns `undefined` for a part of a page that fails, and logs the error. The other parts are still shown. */
export async function optionalPart<T>(part: Promise<T>): Promise<T | undefined> {
  try {
    return await part;
  } catch (error) {
    new Logger('Pages').error(error);
    return undefined;
  }
}
