interface IssuerSignOutViewProps {
  /** The address at which the browser signs out of the issuer. */
  readonly url: URL;
}

/** The browser leaves this page at once, for the issuer. */
export function IssuerSignOutView({ url }: IssuerSignOutViewProps) {
  return (
    <>
      <h1>Signed out</h1>
      <p>You are signed out here. Now you are signed out of {url.host}, too.</p>
      <p>
        <a href={url.href} role="button">
          Continue
        </a>
      </p>
    </>
  );
}
