/** The fields of the forms to sign in and up, as far as they are sent. */
export interface Credentials {
  readonly email?: string;
  readonly password?: string;
  /** The page to go on to. */
  readonly next?: string;
}
