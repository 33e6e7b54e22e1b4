interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  /** The text of each by its value. */
  readonly options: Readonly<Record<string, string>>;
  readonly selected: string;
}

/** A labelled list to choose one from. */
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
