import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import type { Config } from '../../config/config.js';
import { DOCS_PATH, NAVIGATION, OPERATOR_ENTRIES, type NavigationEntry, type Section } from './navigation.js';

interface HeaderProps {
  readonly section: Section | undefined;
  readonly account: VerifiedSession['account'] | undefined;
  readonly signUp: Config['signUp'];
  /** The entries of plugins. */
  readonly navigation: readonly NavigationEntry[];
  /** Whether the description of the API is served. */
  readonly hasDocs: boolean;
}

/** The header of a page: the name of the service, the navigation, and the account that is signed in. */
export function Header({ section, account, signUp, navigation, hasDocs }: HeaderProps) {
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
          {account === undefined ? (
            <VisitorLinks section={section} signUp={signUp} hasDocs={hasDocs} />
          ) : (
            <AccountLinks section={section} account={account} navigation={navigation} hasDocs={hasDocs} />
          )}
        </div>
      </div>
    </header>
  );
}

interface AccountLinksProps extends Pick<HeaderProps, 'section' | 'navigation' | 'hasDocs'> {
  readonly account: VerifiedSession['account'];
}

function AccountLinks({ section, account, navigation, hasDocs }: AccountLinksProps) {
  return (
    <>
      <nav aria-label="Main">
        {[...NAVIGATION, ...(account.role === 'operator' ? OPERATOR_ENTRIES : [])].map((entry) => (
          <a key={entry.section} href={entry.path} aria-current={entry.section === section ? 'page' : undefined}>
            {entry.label}
          </a>
        ))}
        {navigation
          .filter(({ audience }) => audience !== 'operators' || account.role === 'operator')
          .map(({ label, path }) => (
            <a key={path} href={path} aria-current={path === section ? 'page' : undefined}>
              {label}
            </a>
          ))}
        {hasDocs ? <a href={DOCS_PATH}>Docs</a> : null}
      </nav>
      <div class="account">
        <a href="/settings/account" aria-current={section === 'account' ? 'page' : undefined}>
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

function VisitorLinks({ section, signUp, hasDocs }: Pick<HeaderProps, 'section' | 'signUp' | 'hasDocs'>) {
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
