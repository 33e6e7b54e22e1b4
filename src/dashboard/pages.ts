import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { renderToString } from 'preact-render-to-string';
import { isSecure } from '../auth/same-origin/public-origin.js';
import type { ServiceError } from '../common/service-error.js';
import { Extensions } from '../common/extensions/extensions.js';
import { CONFIG, type Config } from '../config/config.js';
import { assetPath } from './assets/assets.js';
import { PluginAssets } from './assets/plugin-assets.js';
import { Layout } from './layout/layout.js';
import { NAVIGATION_ENTRIES } from './layout/navigation.js';
import type { Page } from './page.js';
import { HTTPS_ONLY, PAGE_HEADERS } from './page-headers.js';

/** Sends pages, and redirects to pages. */
@Injectable()
export class Pages {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly extensions: Extensions,
    private readonly assets: PluginAssets,
  ) {}

  /** Whether visitors may create accounts themselves. */
  get signUp(): Config['signUp'] {
    return this.config.signUp;
  }

  /** Whether the service serves the description of the API. */
  get hasDocs(): boolean {
    return this.config.apiDocs === 'open';
  }

  /**
   * Renders the page and sends it.
   *
   * @example this.pages.send(response, { title: 'Usage', place: 'usage', content: UsageView({ rows }) });
   */
  send(response: Response, page: Page, status = 200): void {
    const { session } = response.req.context;
    const layout = Layout({
      page,
      account: session?.account,
      signUp: this.signUp,
      navigation: this.extensions.values(NAVIGATION_ENTRIES),
      hasDocs: this.hasDocs,
      pathOf: (name) => this.assets.pathOf(name) ?? assetPath(name),
    });
    const body = Buffer.from(`<!doctype html>${renderToString(layout)}`);
    response.writeHead(status, {
      ...PAGE_HEADERS,
      ...(isSecure(response.req) ? HTTPS_ONLY : {}),
      'Content-Length': body.length,
    });
    response.end(body);
  }

  /** Sends a page that reports a failure, with the status and headers of the error. */
  sendFailure(response: Response, page: Page, { status, headers, retryAfterSeconds }: ServiceError): void {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds);
    this.send(response, page, status);
  }

  /** Redirects to another page with status 303. The browser then requests that page by GET. */
  leadTo(response: Response, path: string): void {
    response.setHeader('Cache-Control', 'no-store');
    response.redirect(303, path);
  }
}
