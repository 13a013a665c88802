import type { ComponentProps, ReactNode } from "react";
import type { FormField } from "./form";
import { usePreHydrationText } from "./pre-hydration-text";

type FieldProps = {
  field: FormField;
  label: string;
  hint?: string;
  type?: "text" | "email" | "password" | "tel" | "date" | "search";
  optional?: boolean;
  /** True if a rejected submission empties the input, as for passwords and codes. */
  clearOnError?: boolean;
  children?: ReactNode;
} & Pick<ComponentProps<"input">, "autoComplete" | "inputMode" | "autoCapitalize" | "spellCheck">;

export function Field({ field, label, hint, type = "text", optional, clearOnError, children, ...input }: FieldProps) {
  return (
    <LabelledControl field={field} label={label} hint={hint}>
      <div className="mt-1 flex gap-2">
        <input
          key={clearOnError ? field.resultCount : undefined}
          id={field.id}
          name={field.name}
          type={type}
          defaultValue={field.value}
          {...input}
          {...getDescriptionProps(field, hint)}
          aria-required={!optional || undefined}
          className={inputClass}
        />
        {children}
      </div>
    </LabelledControl>
  );
}

type LabelledFieldProps = { field: FormField; label: string; hint?: string };

export function SelectField({
  field,
  label,
  hint,
  options,
  prompt,
}: LabelledFieldProps & { options: readonly (string | [value: string, label: string])[]; prompt?: string }) {
  return (
    <LabelledControl field={field} label={label} hint={hint}>
      <select
        id={field.id}
        name={field.name}
        defaultValue={field.value}
        {...getDescriptionProps(field, hint)}
        aria-required
        className={`mt-1 ${inputClass}`}
      >
        {prompt && <option value="">{prompt}</option>}
        {options.map((option) => {
          const [value, label] = typeof option === "string" ? [option, option] : option;
          return (
            <option key={label} value={value}>
              {label}
            </option>
          );
        })}
      </select>
    </LabelledControl>
  );
}

export function TextField({
  field,
  label,
  hint,
  mandatory = false,
  rows = 5,
}: LabelledFieldProps & { mandatory?: boolean; rows?: number }) {
  const ref = usePreHydrationText(field.id);
  return (
    <LabelledControl field={field} label={label} hint={hint}>
      <textarea
        ref={ref}
        id={field.id}
        name={field.name}
        defaultValue={field.value}
        {...getDescriptionProps(field, hint)}
        aria-required={mandatory || undefined}
        rows={rows}
        cols={40}
        className={`mt-1 ${inputClass}`}
      />
    </LabelledControl>
  );
}

export function FileField(props: { field: FormField; label: string; hint?: string; accept: string }) {
  const { field, label, hint, accept } = props;
  return (
    <LabelledControl field={field} label={label} hint={hint}>
      <input
        id={field.id}
        name={field.name}
        type="file"
        accept={accept}
        {...getDescriptionProps(field, hint)}
        className={`mt-1 ${inputClass} ${fileButtonClass}`}
      />
    </LabelledControl>
  );
}

function LabelledControl({
  field,
  label,
  hint,
  children,
}: {
  field: FormField;
  label: string;
  hint?: string;
  children: ReactNode;
}) {
  return (
    <div className={`mb-5 ${field.errors ? "border-l-4 border-failure pl-3" : ""}`}>
      <label htmlFor={field.id} className="block text-sm font-semibold">
        {label}
      </label>
      {hint && (
        <p id={`${field.id}-hint`} className="text-sm text-quiet">
          {hint}
        </p>
      )}
      <FieldError field={field} />
      {children}
    </div>
  );
}

function getDescriptionProps(field: FormField, hint: string | undefined) {
  const ids = [hint && `${field.id}-hint`, field.errors && field.errorId].filter(Boolean).join(" ");
  return {
    "aria-invalid": field.errors ? true : undefined,
    "aria-describedby": ids || undefined,
    // Without JavaScript, `autoFocus` makes the browser scroll to the first error.
    autoFocus: field.isFirstError || undefined,
  } as const;
}

function FieldError({ field }: { field: FormField }) {
  if (!field.errors) return null;
  return (
    <p id={field.errorId} className="text-sm font-semibold text-failure">
      {field.errors.join(" ")}
    </p>
  );
}

export const fileButtonClass =
  "text-sm file:mr-3 file:border-0 file:bg-transparent file:font-semibold file:text-ink file:underline";

export const inputClass =
  "min-h-11 w-full min-w-0 rounded-label border border-edge bg-sunken px-3 py-2 text-base text-ink " +
  "aria-invalid:border-2 aria-invalid:border-failure";
