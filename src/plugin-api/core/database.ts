// What plugins use of platform/database.
export { DatabaseAvailability } from '../../platform/database/database-availability.js';
export { DatabaseModule } from '../../platform/database/database.module.js';
export { deletePortion } from '../../platform/database/queries/delete-portion.js';
export {
  mergedByTime,
  pageByTime,
  type TimePage,
  type TimePosition,
} from '../../platform/database/queries/page-by-time.js';
export { orUnavailable } from '../../platform/database/queries/query-failure.js';
export { engineOf, insertStatement, queryRows } from '../../platform/database/queries/statements.js';
