interface InsecureViewProps {
  /** The scheme, host and port by which the browser has reached the service. */
  readonly origin: string;
  /** The port in the address of the browser, with a colon in front. Empty for the default port. */
  readonly port: string;
}

/** Replaces the form for the password when the browser would drop the session cookie. */
export function InsecureView({ origin, port }: InsecureViewProps) {
  return (
    <>
      <h1>HTTPS is required to sign in</h1>
      <p>
        You opened <code>{origin}</code> without HTTPS. Browsers don't keep you signed in at such an address, and others
        on the network could read your password.
      </p>
      <h2>What to do</h2>
      <ul>
        <li>Open the HTTPS address of this service, if there is one.</li>
        <li>
          If the service runs on your own machine, open{' '}
          <a href={`http://localhost${port}/sign-in`}>{`http://localhost${port}/sign-in`}</a>.
        </li>
        <li>
          If you operate this service, put a proxy with a certificate in front of it, and set <code>TRUST_PROXY</code>.
        </li>
      </ul>
      <p class="fine">API keys work at this address, but they are sent without encryption.</p>
    </>
  );
}
