interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  /** The label of each option, by the option's value. */
  readonly options: Readonly<Record<string, string>>;
  readonly selected: string;
}

/** A list with a label, from which the user chooses one option. */
export function Choice({ label, name, options, selected }: ChoiceProps) {
  return (
    <div>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value} selected={value === selected}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
