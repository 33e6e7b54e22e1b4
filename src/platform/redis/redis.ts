/** Injection token of the `RedisConnection`. The value is `undefined` when REDIS_URL is not set. */
export const REDIS = Symbol('REDIS');

/** Injection token of the `Membership`. The value is `undefined` when REDIS_URL is not set. */
export const MEMBERSHIP = Symbol('MEMBERSHIP');
