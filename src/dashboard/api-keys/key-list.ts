import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { ApiKeysService, type CreatedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { publicOriginOf } from '../../auth/same-origin/public-origin.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { pageOfMany } from '../layout/page-of-many.js';
import type { Page } from '../page.js';
import { ApiKeysView, type ApiKeysViewProps } from './api-keys-view.js';
import { ALL_KEYS, chosenKeys } from './key-filter.js';
import { KeySpends } from './key-spend.js';
import type { NewKey, ReplacedKey } from './new-key-view.js';

const KEYS_PER_PAGE = 50;

type Additions = Pick<ApiKeysViewProps, 'newKey' | 'done' | 'name' | 'lifetime' | 'problems'>;

/** Builds the page with the API keys of an account. */
@Injectable()
export class KeyList {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    private readonly spends: KeySpends,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Builds one page of the list.
   *
   * @param wanted the page number as the query has it.
   */
  async page(accountId: string, additions: Additions, filter = ALL_KEYS, wanted?: unknown): Promise<Page> {
    const [all, spend] = await Promise.all([this.keys.list(accountId), this.spends.of(accountId)]);
    const chosen = chosenKeys(all, filter, this.now());
    const shown = pageOfMany(wanted, chosen.length, KEYS_PER_PAGE);
    const keys = chosen.slice((shown.number - 1) * KEYS_PER_PAGE, shown.number * KEYS_PER_PAGE);
    const hasKeys = all.length > 0;
    const content = ApiKeysView({
      accountId,
      keys,
      hasKeys,
      filter,
      spend,
      shown,
      now: this.now(),
      nextId: randomUUID(),
      ...additions,
    });
    const title = additions.problems === undefined ? 'API keys' : 'Error: API keys';
    return { title, place: 'api-keys', script: 'api-keys.js', content };
  }

  /** The properties to show a new key with, in the answer to the request that created the key. */
  newKey(created: CreatedApiKey, request: Request, replaced?: ReplacedKey): NewKey {
    const model = this.models.all()[0]?.id;
    return { created, origin: publicOriginOf(request), model, ...(replaced === undefined ? {} : { replaced }) };
  }
}
