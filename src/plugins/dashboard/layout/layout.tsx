import type { ComponentChildren } from 'preact';
import type { VerifiedSession } from '../../../plugin-api/core/accounts.js';
import type { PluginsInUse } from '../../../plugin-api/core/http.js';
import type { Config, BuiltInPlugin } from '../../../plugin-api/core/config.js';
import { assetPath } from '../assets.controller.js';
import {
  ACCOUNT_PATH,
  DOCS_PATH,
  ACCOUNTS_PATH,
  API_KEYS_PATH,
  AUDIT_PATH,
  PLAYGROUND_PATH,
  REQUESTS_PATH,
  STATUS_PATH,
  USAGE_PATH,
} from '../paths.js';
import type { NavigationEntry } from '../../../plugin-api/page-extensions.js';

interface Entry {
  readonly section: string;
  readonly label: string;
  readonly path: string;
  /** The plugin of the service without which the page does not exist. */
  readonly plugin?: BuiltInPlugin;
}

/** The pages in the navigation of the header, in order. */
const NAVIGATION = [
  { section: 'api-keys', label: 'API keys', path: API_KEYS_PATH },
  { section: 'playground', label: 'Playground', path: PLAYGROUND_PATH },
  { section: 'usage', label: 'Usage', path: USAGE_PATH, plugin: 'reports' },
] as const satisfies readonly Entry[];

/** The pages in the navigation of operators only. */
const OPERATOR_ENTRIES = [
  { section: 'accounts', label: 'Accounts', path: ACCOUNTS_PATH },
  { section: 'requests', label: 'Requests', path: REQUESTS_PATH },
  { section: 'audit', label: 'Audit log', path: AUDIT_PATH, plugin: 'audit' },
  { section: 'status', label: 'Status', path: STATUS_PATH },
] as const satisfies readonly Entry[];

const DOCS = { section: 'docs', label: 'Docs', path: DOCS_PATH } as const;
const SIGN_IN = { section: 'sign-in', label: 'Sign in', path: '/sign-in' } as const;
const SIGN_UP = { section: 'sign-up', label: 'Sign up', path: '/sign-up' } as const;

/**
 * The part of the application that a page belongs to. The header marks this part as current. A page of a plugin has the path
 * of its entry.
 */
type Section =
  | (typeof NAVIGATION)[number]['section']
  | (typeof OPERATOR_ENTRIES)[number]['section']
  | 'account'
  | 'docs'
  | 'sign-in'
  | 'sign-up'
  | `/${string}`;

/**
 * The parts of a page that differ between pages. The layout adds the common parts.
 *
 * @experimental
 * @since 1.0
 */
export interface Page {
  /** The title in the browser tab. The layout appends the name of the service. */
  readonly title: string;
  /** The content of `<main>`: one `<h1>` and the content below it. */
  readonly content: ComponentChildren;
  readonly section?: Section;
  /** An ES module in the folder `static`, such as `playground/playground.js`, or an asset of a plugin: `<plugin>/<file>`. */
  readonly script?: string;
  /** A stylesheet of the same kind, in addition to the stylesheet of all pages. */
  readonly style?: string;
  /** The address that the browser opens at once, without a click. It may be on another host. */
  readonly leadsTo?: string;
  /** `narrow` for a page with one short form, `wide` for a page that needs the full width. The default is in between. */
  readonly width?: 'narrow' | 'wide';
}

const SERVICE_NAME = 'Chat Streaming Service';

interface LayoutProps extends Omit<HeaderProps, 'section'> {
  readonly page: Page;
  /** Returns the path of a file in `style` or `script`. */
  pathOf(asset: string): string;
}

/** The HTML document around the content of a page. All pages share this layout. */
export function Layout({ page, pathOf, ...header }: LayoutProps) {
  const { title, content, section, script, style, width, leadsTo } = page;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
        <meta name="color-scheme" content="light dark" />
        {/* No module: the browser runs it before it shows the page. */}
        <script src={assetPath('theme.js')} />
        <title>{`${title} · ${SERVICE_NAME}`}</title>
        {leadsTo === undefined ? null : <meta http-equiv="refresh" content={`0; url=${leadsTo}`} />}
        <link rel="icon" type="image/svg+xml" href={assetPath('icon.svg')} />
        <link rel="stylesheet" href={assetPath('pico.css')} />
        <link rel="stylesheet" href={assetPath('app.css')} />
        {style === undefined ? null : <link rel="stylesheet" href={pathOf(style)} />}
        {header.account === undefined ? null : <script type="module" src={assetPath('times.js')} />}
        {script === undefined ? null : <script type="module" src={pathOf(script)} />}
      </head>
      <body>
        <a class="skip-link" href="#content">
          Skip to content
        </a>
        <Header section={section} {...header} />
        <main id="content" class={`container ${width ?? ''}`} tabIndex={-1}>
          {content}
        </main>
      </body>
    </html>
  );
}

interface HeaderProps {
  readonly section: Section | undefined;
  /** The account that is signed in. */
  readonly account: VerifiedSession['account'] | undefined;
  readonly signUp: Config['signUp'];
  /** The entries of plugins. */
  readonly navigation: readonly NavigationEntry[];
  /** The plugins of the service that are in use. */
  readonly plugins: Pick<PluginsInUse, 'has'>;
  /** Whether the documents and the description of the API are served. */
  readonly hasDocs: boolean;
}

/** The header of a page: the name of the service, the navigation, and the account that is signed in. */
function Header(props: HeaderProps) {
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
          <button type="button" id="theme" class="quiet needs-script">
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
              <circle cx="8" cy="8" r="6.5" />
              <path d="M8 1.5a6.5 6.5 0 0 1 0 13z" />
            </svg>
            <span>Theme: system</span>
          </button>
        </div>
      </div>
    </header>
  );
}

type AccountLinksProps = HeaderProps & { readonly account: VerifiedSession['account'] };

function AccountLinks({ section, account, navigation, plugins, hasDocs }: AccountLinksProps) {
  const isOperator = account.role === 'operator';
  const audiences = ['everyone', ...(isOperator ? ['operators'] : [])];
  const ofPlugins = navigation.filter(({ audience = 'everyone' }) => audiences.includes(audience));
  return (
    <>
      <nav aria-label="Main">
        {[
          ...[...NAVIGATION, ...(isOperator ? OPERATOR_ENTRIES : [])].filter(
            (entry) => !('plugin' in entry) || plugins.has(entry.plugin),
          ),
          ...ofPlugins.map(({ label, path }) => ({ section: path, label, path })),
          ...(hasDocs ? [DOCS] : []),
        ].map((entry) => linkTo(entry, section))}
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
  const entries = [...(hasDocs ? [DOCS] : []), SIGN_IN, ...(signUp === 'open' ? [SIGN_UP] : [])];
  return (
    <nav aria-label="Main" class="visitor">
      {entries.map((entry) => linkTo(entry, section))}
    </nav>
  );
}

function linkTo(entry: Entry, section: Section | undefined) {
  return (
    <a key={entry.path} href={entry.path} aria-current={entry.section === section ? 'page' : undefined}>
      {entry.label}
    </a>
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
