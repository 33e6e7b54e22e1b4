import type { BuiltInPlugin } from '../../../plugin-api/core/config.js';
import {
  ACCOUNTS_PATH,
  API_KEYS_PATH,
  AUDIT_PATH,
  PLAYGROUND_PATH,
  REQUESTS_PATH,
  STATUS_PATH,
  USAGE_PATH,
} from '../paths.js';

interface Entry {
  readonly section: string;
  readonly label: string;
  readonly path: string;
  /** The plugin of the service without which the page does not exist. */
  readonly plugin?: BuiltInPlugin;
}

/** The pages in the navigation of the header, in order. */
export const NAVIGATION = [
  { section: 'api-keys', label: 'API keys', path: API_KEYS_PATH },
  { section: 'playground', label: 'Playground', path: PLAYGROUND_PATH },
  { section: 'usage', label: 'Usage', path: USAGE_PATH, plugin: 'reports' },
] as const satisfies readonly Entry[];

/** The pages in the navigation of operators only. */
export const OPERATOR_ENTRIES = [
  { section: 'accounts', label: 'Accounts', path: ACCOUNTS_PATH },
  { section: 'requests', label: 'Requests', path: REQUESTS_PATH },
  { section: 'audit', label: 'Audit log', path: AUDIT_PATH, plugin: 'audit' },
  { section: 'status', label: 'Status', path: STATUS_PATH },
] as const satisfies readonly Entry[];

/**
 * The part of the application that a page belongs to. The header marks this part as current. A page of a plugin has the path
 * of its entry.
 */
export type Section =
  | (typeof NAVIGATION)[number]['section']
  | (typeof OPERATOR_ENTRIES)[number]['section']
  | 'account'
  | 'docs'
  | 'sign-in'
  | 'sign-up'
  | `/${string}`;
