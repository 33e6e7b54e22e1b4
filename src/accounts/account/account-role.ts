/** An `operator` may see and manage all accounts on the pages. A `member` manages only its own account. */
export const ACCOUNT_ROLES = ['member', 'operator'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];
