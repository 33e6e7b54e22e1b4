/** The paths of the pages that one-time links open. The token follows. */
export const INVITATION_PATH = '/invitation';
export const RESET_PATH = '/reset-password';
