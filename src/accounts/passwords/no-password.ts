/**
 * The password hash of an account without a password. It has the form of a hash, so that to compare a password with it takes as
 * long as with any other, also in a replica of an earlier version. Nobody can find a password with this hash: its salt and its
 * digest are zeros.
 */
export const NO_PASSWORD = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Whether the account has a password. */
export function hasPassword({ passwordHash }: { readonly passwordHash: string }): boolean {
  return passwordHash !== NO_PASSWORD;
}
