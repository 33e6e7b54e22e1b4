import { Get, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { Public } from '../../http/routing/public.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { ASSETS, ASSETS_VERSION } from './assets.js';

/** Serves the files that pages use: stylesheets, scripts and icons. */
@PageController('assets')
export class AssetsController {
  @Get(':version/*path')
  @Public()
  show(
    @Param('version') version: string,
    @Param('path') path: readonly string[],
    @Req() request: Request,
    @Res() response: Response,
  ): void {
    const asset = ASSETS.get(path.join('/'));
    if (asset === undefined) throw new ServiceError('not_found', 'This file does not exist.');
    const gzip = request.acceptsEncodings('gzip') === 'gzip';
    const body = gzip ? asset.gzipped : asset.bytes;
    response.writeHead(200, {
      // During a rollout, pages of the other release request files of that release. This replica then answers with
      // its own file, and browsers must not cache the answer.
      'Cache-Control': version === ASSETS_VERSION ? 'public, max-age=31536000, immutable' : 'no-store',
      'Content-Type': asset.type,
      'Content-Length': body.length,
      ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
      'Cross-Origin-Resource-Policy': 'same-origin',
      Vary: 'Accept-Encoding',
    });
    response.end(body);
  }
}
