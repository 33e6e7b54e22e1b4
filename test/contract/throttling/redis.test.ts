import { afterAll, describe } from 'vitest';
import { testRedis } from '../../support/redis.js';
import { describeLimitStore } from '../../../src/testing/stores/describe-limit-store.js';
import { openExactly } from './limit-stores.js';

const redis = await testRedis();

describe.skipIf(redis === undefined)('Redis', () => {
  afterAll(() => redis?.drop());
  describeLimitStore({
    name: 'in Redis',
    open: (tokensUsed) => openExactly(redis?.url ?? '', tokensUsed),
    replicas: 3,
  });
});
