import { Get, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { ApiExcludeController, OutsideApi, Public } from '../../../plugin-api/core/http.js';
import { ASSETS } from './assets.js';
import { PluginAssets } from './asset-set.js';

/** Serves the files that pages use: stylesheets, scripts and icons. */
@OutsideApi('assets')
@ApiExcludeController()
export class AssetsController {
  constructor(private readonly ofPlugins: PluginAssets) {}

  @Get(':version/*path')
  @Public()
  show(@Param('version') version: string, @Param('path') path: readonly string[], @Res() response: Response): void {
    const name = path.join('/');
    const found = ASSETS.find(version, name) ?? this.ofPlugins.find(version, name);
    if (found === undefined) throw new ServiceError('not_found', 'This file does not exist.');
    const { asset, isCurrent } = found;
    asset.send(response, 200, {
      // During a rollout, pages of the other release request files of that release. This replica then answers with
      // its own file, and browsers must not cache the answer.
      'Cache-Control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-store',
      'Content-Type': asset.type,
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
  }
}
