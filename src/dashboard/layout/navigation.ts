import { ExtensionPoint } from '../../common/extensions/extension-point.js';

/** The pages in the navigation of the header, in order. */
export const NAVIGATION = [
  { section: 'api-keys', label: 'API keys', path: '/settings/api-keys' },
  { section: 'playground', label: 'Playground', path: '/playground' },
  { section: 'usage', label: 'Usage', path: '/usage' },
] as const;

export const OPERATOR_ENTRY = { section: 'accounts', label: 'Accounts', path: '/operator/accounts' } as const;
export const REQUESTS_ENTRY = { section: 'requests', label: 'Requests', path: '/operator/requests' } as const;
export const AUDIT_ENTRY = { section: 'audit', label: 'Audit log', path: '/operator/audit' } as const;
export const STATUS_ENTRY = { section: 'status', label: 'Status', path: '/operator/status' } as const;

/** The path of the page of operators that finds a request by its id. */
export function requestPath(requestId: string): string {
  return `${REQUESTS_ENTRY.path}?request=${encodeURIComponent(requestId)}`;
}

/** The pages in the navigation of operators only. */
export const OPERATOR_ENTRIES = [OPERATOR_ENTRY, REQUESTS_ENTRY, AUDIT_ENTRY, STATUS_ENTRY] as const;

/** The description of the API. It has a layout of its own. */
export const DOCS_PATH = '/api/docs';

/** An entry of a plugin in the navigation. */
export interface NavigationEntry {
  /** The text of the link. */
  readonly label: string;
  /** The path of the page, such as `/prompts`. */
  readonly path: string;
  /** Who sees the entry: everyone who is signed in (default), or operators only. The page itself needs `@OperatorOnly()`. */
  readonly audience?: 'everyone' | 'operators';
}

/** The entries of plugins, after those of the service. */
export const NAVIGATION_ENTRIES = new ExtensionPoint<NavigationEntry>('navigation');

/**
 * The part of the application that a page belongs to. The header marks this part as current. A page of a plugin has the path
 * of its entry.
 */
export type Section =
  | (typeof NAVIGATION)[number]['section']
  | (typeof OPERATOR_ENTRIES)[number]['section']
  | 'account'
  | 'sign-in'
  | 'sign-up'
  | `/${string}`;
