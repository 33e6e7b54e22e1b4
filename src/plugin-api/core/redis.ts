// What plugins use of platform/redis.
export type { Membership } from '../../platform/redis/membership.js';
export type { RedisConnection } from '../../platform/redis/redis-connection.js';
export { MEMBERSHIP, REDIS } from '../../platform/redis/redis-connection.js';
export { RedisModule } from '../../platform/redis/redis.module.js';
export { RedisUnavailable, wasNotSent } from '../../platform/redis/redis-errors.js';
export { RedisScript } from '../../platform/redis/redis-script.js';
