-- True if the text has none of the control characters and invisible characters that forms remove.
-- app/lib/forms/text-fields.ts has the same rule.
create function private.is_plain_text(value text) returns boolean
language sql immutable set search_path = '' as $$
  select value !~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f'
    '\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\uFFF0-\uFFFB\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff'
    '\U000e01f0-\U000e0fff]'
$$;

-- True if the text passes private.is_plain_text and has no tab or line break.
create function private.is_one_line(value text) returns boolean
language sql immutable set search_path = '' as $$
  select value !~ '[\t\n]' and private.is_plain_text(value)
$$;

create function private.is_visible(value text) returns boolean
language sql immutable set search_path = '' as $$
  select value ~ '[^\s\u00a0\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f'
    '\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0001-\U000e01ef]'
$$;

-- Returns a normalised text for searches: in lower case, without accents, apostrophes and invisible characters.
-- All kinds of dashes become hyphens. Quotes and digits of other scripts become ASCII characters.
-- The language is PL/pgSQL, because PL/pgSQL plans the expression once per connection. An SQL function that another SQL
-- function calls is planned again for each row.
create function private.search_form(value text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return case when octet_length(value) = char_length(value) then translate(lower(value), '''`', '') else
    replace(replace(replace(replace(translate(
      regexp_replace(
        lower(normalize(regexp_replace(value, '[\u00b4\u02b9-\u02bf\u02c8\u2018-\u201b\u2032\ua78b\ua78c]', '', 'g'), nfkd)),
        '[''`\u00ad\u02bc\u0300-\u036f\u0640\u064b-\u065f\u061c\u0670\u1160\u180e\u200b-\u200f\u202a-\u202e\u2032\u2060-\u206f\ufe00-\ufe0f\ufeff'
          '\U000e0000-\U000e0fff]', '', 'g'
      ),
      'øłđħıðς‐‒–—―−“”„«»' || '٠١٢٣٤٥٦٧٨٩' || '۰۱۲۳۴۵۶۷۸۹' || '०१२३४५६७८९',
      'oldhidσ------"""""' || '0123456789' || '0123456789' || '0123456789'
    ), 'ß', 'ss'), 'þ', 'th'), 'æ', 'ae'), 'œ', 'oe')
  end;
end
$$;

-- Returns a LIKE pattern for each of the first eight words of a search, or an empty list if the search has only spaces.
-- Returns null if normalising removes all characters of the search, or if the search has over 254 characters.
create function private.word_patterns(q text) returns text[]
language sql immutable set search_path = '' as $$
  select case
    when coalesce(btrim(q), '') = '' then '{}'
    when char_length(q) <= 254 then nullif((array(
      select private.like_pattern(word) from regexp_split_to_table(private.search_form(q), '\s+') as word where word <> ''
    ))[:8], '{}')
  end
$$;

-- Returns a LIKE pattern for an AWB/BL or container number. Ignores spaces, hyphens, slashes and dots in the search.
create function private.code_pattern(q text) returns text
language sql immutable set search_path = '' as $$
  select private.like_pattern(coalesce(nullif(translate(normalized, ' -/.', ''), ''), normalized))
  from private.search_form(left(q, 254)) as normalized
$$;

-- Returns the lowest and highest UUID that start with a prefix such as #4f2a.
-- Returns null if the prefix is invalid or shorter than 4 characters.
create function private.id_prefix_range(prefix text) returns uuid[]
language plpgsql immutable set search_path = '' as $$
declare
  shape constant text := '00000000-0000-0000-0000-000000000000';
  beginning text := ltrim(btrim(private.search_form(left(prefix, 64))), '#');
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

-- Returns a LIKE pattern that matches normalised texts containing `normalized`.
-- Returns null if `normalized` is empty or has over 254 characters.
create function private.like_pattern(normalized text) returns text
language sql immutable set search_path = '' as $$
  select case
    when char_length(normalized) <= 254
      then '%' || nullif(regexp_replace(btrim(normalized), '([\\%_])', '\\\1', 'g'), '') || '%'
  end
$$;

-- Returns the SHA-256 hash of a link's token in hexadecimal. The database stores this hash instead of the token.
create function private.token_hash(token text) returns text
language sql immutable set search_path = '' as $$
  select encode(sha256(convert_to(token, 'UTF8')), 'hex')
$$;

grant execute on function
  private.word_patterns, private.code_pattern, private.id_prefix_range, private.like_pattern
to authenticated;
grant execute on function private.is_visible, private.search_form to authenticated, service_role;
grant execute on function
  private.is_plain_text, private.is_one_line
to authenticated, service_role, supabase_auth_admin;
