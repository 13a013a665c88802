-- True if a text has no control character, no line separator and no character that changes the direction of the text after it.
-- app/lib/forms/text-fields.ts has the same rule.
create function private.is_one_line(value text) returns boolean
language sql immutable
set search_path = ''
as $$
  select value !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
$$;
grant execute on function private.is_one_line(text) to authenticated, service_role, supabase_auth_admin;

-- The same for a text of several lines: tabs and line breaks are allowed.
create function private.is_plain_text(value text) returns boolean
language sql immutable
set search_path = ''
as $$
  select value !~ '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
$$;
grant execute on function private.is_plain_text(text) to authenticated, service_role;

-- True if a text has at least one character that a person can see.
create function private.is_visible(value text) returns boolean
language sql immutable
set search_path = ''
as $$
  select value ~ '[^\s\u00a0\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0001-\U000e01ef]'
$$;
grant execute on function private.is_visible(text) to authenticated, service_role;

-- The patterns of the first eight words of a search; null for a search longer than any name.
create function private.word_patterns(q text) returns text[]
language sql immutable
set search_path = ''
as $$
  select case when coalesce(char_length(q), 0) <= 254 then (array(
    select private.like_pattern(one) from regexp_split_to_table(coalesce(q, ''), '\s+') as one where one <> ''
  ))[:8] end
$$;
grant execute on function private.word_patterns(text) to authenticated;

-- The pattern of a search as an AWB/BL without the spaces and hyphens that people write in it or leave out.
create function private.awb_pattern(q text) returns text
language sql immutable
set search_path = ''
as $$
  select private.like_pattern(coalesce(nullif(translate(left(q, 254), ' -/.', ''), ''), q))
$$;
grant execute on function private.awb_pattern(text) to authenticated;

-- The ids that begin with what was typed, as the lowest and the highest; null when no id begins so. Four characters or more.
create function private.id_prefix_range(prefix text) returns uuid[]
language plpgsql immutable
set search_path = ''
as $$
declare
  shape constant text := '00000000-0000-0000-0000-000000000000';
  beginning text := lower(btrim(prefix));
begin
  if char_length(beginning) between 4 and 36
    and beginning || substr(shape, char_length(beginning) + 1) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  then
    return array[
      beginning || substr(shape, char_length(beginning) + 1),
      beginning || substr(replace(shape, '0', 'f'), char_length(beginning) + 1)
    ]::uuid[];
  end if;
  return null;
end
$$;
grant execute on function private.id_prefix_range(text) to authenticated;

-- The most characters of a search. Longer ones find nothing: no name has as many.
create function private.like_pattern(q text) returns text
language sql immutable
set search_path = ''
as $$
  select case
    when char_length(q) <= 254 then '%' || regexp_replace(btrim(q), '([\\%_])', '\\\1', 'g') || '%'
  end
$$;
grant execute on function private.like_pattern(text) to authenticated;

-- How many rows a query has, up to a hundred: a list says "99+" beyond, and counts no more rows than that.
create function private.count_up_to_100(rows_of text) returns bigint
language plpgsql stable
set search_path = ''
as $$
declare
  counted bigint;
begin
  execute format('select count(*) from (%s limit 100) as counted', rows_of) into counted;
  return counted;
end
$$;
