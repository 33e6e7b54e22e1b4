interface CheckboxProps {
  readonly label: string;
  readonly name: string;
  readonly checked: boolean;
  readonly hint: string;
}

/** A checkbox with a label and a hint. Browsers send the field only when the box is checked. */
export function Checkbox({ label, name, checked, hint }: CheckboxProps) {
  return (
    <div>
      <label class="checkbox">
        <input type="checkbox" name={name} value="yes" checked={checked} aria-describedby={`${name}-hint`} />
        {label}
      </label>
      <small class="hint" id={`${name}-hint`}>
        {hint}
      </small>
    </div>
  );
}
