/** The id of a model, if it is known. */
export function ModelName({ id }: { readonly id: string | null }) {
  return id === null ? <span class="none">–</span> : <code>{id}</code>;
}
