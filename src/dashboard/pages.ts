import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { renderToString } from 'preact-render-to-string';
import { CONFIG, type Config } from '../config/config.js';
import { Layout } from './layout/layout.js';
import { HTTPS_ONLY, PAGE_HEADERS } from './page-headers.js';
import type { Page } from './page.js';

/** Answers with pages. */
@Injectable()
export class Pages {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** @example this.pages.send(response, { title: 'Usage', place: 'usage', content: UsageView({ rows }) }); */
  send(response: Response, page: Page, status = 200): void {
    const { session, secure } = response.req;
    const layout = Layout({ page, account: session?.account, signUp: this.config.signUp });
    const body = Buffer.from(`<!doctype html>${renderToString(layout)}`);
    response.writeHead(status, {
      ...PAGE_HEADERS,
      ...(secure ? HTTPS_ONLY : {}),
      'Content-Length': body.length,
    });
    response.end(body);
  }
}
