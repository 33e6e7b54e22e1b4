/** Injection token of the `RedisConnection`; `undefined` where REDIS_URL is not set. */
export const REDIS = Symbol('REDIS');
