import { accountPath } from '../paths.js';

/** The addresses of accounts by id. A deleted account has none. */
export type Emails = ReadonlyMap<string, string>;

/** The address of an account as a link to its page. Only the id, if the account was deleted. */
export function AccountName({ id, emails }: { readonly id: string; readonly emails: Emails }) {
  const email = emails.get(id);
  if (email !== undefined) {
    return (
      <a href={accountPath(id)}>
        {/* A long address breaks between its parts, and not inside a word. */}
        {email.split(/(?<=[.@])/).flatMap((part, index) => (index === 0 ? [part] : [<wbr key={index} />, part]))}
      </a>
    );
  }
  return (
    <>
      <code>{id}</code> <small>deleted</small>
    </>
  );
}
