/** Starts a sign-in at the issuer. */
export const SINGLE_SIGN_ON_PATH = '/sign-in/single-sign-on';
/** The issuer sends the browser back to this path: the redirect URI. */
export const CALLBACK_PATH = `${SINGLE_SIGN_ON_PATH}/callback`;
/** Links the account of a person who is signed in. */
export const LINK_PATH = '/settings/account/single-sign-on';
/** The page after a sign-out at the issuer. */
export const SIGNED_OUT_PATH = '/sign-in';
