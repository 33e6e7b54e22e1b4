import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeysService, type ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { ServiceError } from '../../common/service-error.js';
import { KeyBudgets } from '../../usage/budgets/key-budgets.js';
import { Creations } from '../shared/creations.js';
import { wireKey, type KeyDto, type NewKeyDto } from './key.dto.js';

/** Creates API keys, and converts them to the form of the API, with what is left of their budgets. */
@Injectable()
export class WireKeys {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly budgets: KeyBudgets,
    private readonly creations: Creations,
  ) {}

  async all(accountId: string, keys: readonly ListedApiKey[]): Promise<KeyDto[]> {
    const budgets = await this.budgets.of(accountId, keys);
    return keys.map((key) => wireKey(accountId, key, budgets.get(key.id)));
  }

  async one(accountId: string, key: ListedApiKey): Promise<KeyDto> {
    const budgets = await this.budgets.of(accountId, [key]);
    return wireKey(accountId, key, budgets.get(key.id));
  }

  /**
   * Creates a key, or returns the key that an earlier request with the same `Idempotency-Key` has created, without its secret.
   *
   * @param create creates the key with this id, and returns its secret.
   */
  createOnce(request: Request, accountId: string, create: (id: string) => Promise<string>): Promise<NewKeyDto> {
    return this.creations.run(request, {
      find: async (id) => {
        const known = await this.keys.find(id, accountId).catch(undefinedIfNotFound);
        return known && this.created(accountId, known, null);
      },
      create: async (id) => {
        const secret = await create(id);
        return this.created(accountId, await this.keys.find(id, accountId), secret);
      },
    });
  }

  private async created(accountId: string, key: ListedApiKey, secret: string | null): Promise<NewKeyDto> {
    return Object.assign(await this.one(accountId, key), { key: secret });
  }
}

function undefinedIfNotFound(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === 'not_found') return undefined;
  throw error;
}
