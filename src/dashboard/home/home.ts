/** The page that opens after sign-in, unless the user asked for another page. */
export const HOME = '/playground';
