import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import type { Config } from '../../config/config.js';
import { ACCOUNT_PATH, DOCS_PATH } from '../paths.js';
import { NAVIGATION, OPERATOR_ENTRIES, type NavigationEntry, type Section } from './navigation.js';

export interface HeaderProps {
  readonly section: Section | undefined;
  /** The account that is signed in. */
  readonly account: VerifiedSession['account'] | undefined;
  readonly signUp: Config['signUp'];
  /** The entries of plugins. */
  readonly navigation: readonly NavigationEntry[];
  /** Whether the description of the API is served. */
  readonly hasDocs: boolean;
}

/** The header of a page: the name of the service, the navigation, and the account that is signed in. */
export function Header(props: HeaderProps) {
  const { account } = props;
  return (
    <header class="page-header">
      <div class={account?.role === 'operator' ? 'container of-operator' : 'container'}>
        <a class="brand" href="/">
          <Mark /> <span class="brand-name">Chat Streaming Service</span>
        </a>
        <button type="button" class="quiet menu-button" popovertarget="page-menu">
          Menu
        </button>
        {/* On a wide screen the stylesheet shows the menu in the header. On a phone the button opens it. */}
        <div id="page-menu" class="page-menu" popover="auto">
          {account === undefined ? <VisitorLinks {...props} /> : <AccountLinks {...props} account={account} />}
        </div>
      </div>
    </header>
  );
}

type AccountLinksProps = HeaderProps & { readonly account: VerifiedSession['account'] };

function AccountLinks({ section, account, navigation, hasDocs }: AccountLinksProps) {
  const isOperator = account.role === 'operator';
  const ofPlugins = navigation.filter(({ audience }) => audience !== 'operators' || isOperator);
  return (
    <>
      <nav aria-label="Main">
        {[
          ...NAVIGATION,
          ...(isOperator ? OPERATOR_ENTRIES : []),
          ...ofPlugins.map(({ label, path }) => ({ section: path, label, path })),
        ].map((entry) => (
          <a key={entry.path} href={entry.path} aria-current={entry.section === section ? 'page' : undefined}>
            {entry.label}
          </a>
        ))}
        {hasDocs ? <a href={DOCS_PATH}>Docs</a> : null}
      </nav>
      <div class="account">
        <a href={ACCOUNT_PATH} title={account.email} aria-current={section === 'account' ? 'page' : undefined}>
          <span class="visually-hidden">Account </span>
          <span class="email">{account.email}</span>
        </a>
        <span class="badge">
          {account.tier.name}
          <span class="visually-hidden"> tier</span>
        </span>
        <form method="post" action="/sign-out">
          <button class="quiet">Sign out</button>
        </form>
      </div>
    </>
  );
}

function VisitorLinks({ section, signUp, hasDocs }: HeaderProps) {
  return (
    <nav aria-label="Main" class="visitor">
      {hasDocs ? <a href={DOCS_PATH}>Docs</a> : null}
      <a href="/sign-in" aria-current={section === 'sign-in' ? 'page' : undefined}>
        Sign in
      </a>
      {signUp === 'open' ? (
        <a href="/sign-up" aria-current={section === 'sign-up' ? 'page' : undefined}>
          Sign up
        </a>
      ) : null}
    </nav>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <path d="M8 11h16M8 16h11M8 21h6" stroke-width="2.5" stroke-linecap="round" />
    </svg>
  );
}
