/** The fields of the sign-in form and the sign-up form. A client may omit any field. */
export interface Credentials {
  readonly email?: string;
  readonly password?: string;
  /** The path of the page that opens afterwards. */
  readonly next?: string;
}
