import { adminCommand, type Outcome } from '../../support/admin-command.js';
import { urlOf, type TestDatabase } from '../../support/database.js';

/** Runs a command, whose standard input stays open and silent. */
export function admin(database: TestDatabase, ...words: string[]): Promise<Outcome> {
  return adminCommand(environmentOf(database), words);
}

/** Runs a command. @param input all that the standard input holds. */
export function adminWith(input: string | Buffer, database: TestDatabase, ...words: string[]): Promise<Outcome> {
  return adminCommand(environmentOf(database), words, input);
}

export function environmentOf(database: TestDatabase): Record<string, string> {
  return { DATABASE_URL: urlOf(database) };
}
