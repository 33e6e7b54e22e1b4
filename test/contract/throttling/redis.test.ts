import { afterAll, describe } from 'vitest';
import { testRedis } from '../../support/redis.js';
import { describeLimitStore } from './describe-limit-store.js';
import { openOnRedis } from './limit-stores.js';

const redis = await testRedis();

describe.skipIf(redis === undefined)('Redis', () => {
  afterAll(() => redis?.drop());
  describeLimitStore('in Redis', (tokensUsed) => openOnRedis(redis?.url ?? '', tokensUsed), 3);
});
