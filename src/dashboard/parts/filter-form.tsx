import { PageForm, type FormField } from '../forms/page-form.js';

interface FilterFormProps {
  /** The path of the list. */
  readonly path: string;
  readonly fields: readonly FormField[];
  readonly button?: string;
}

/** The form above a list, in one line. The address of the list then has the values of its fields. */
export function FilterForm({ path, fields, button = 'Apply' }: FilterFormProps) {
  return <PageForm method="get" action={path} layout="row" fields={fields} button={button} tone="quiet" />;
}
